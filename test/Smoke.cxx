#include "itkCudaMattesNMI.h"
#include "itkAffineTransform.h"
#include <chrono>
#include <random>
#include <iostream>
using I=itk::Image<float,3>;
int main(int argc,char**argv){
  for(auto&d:itk::GPUDevice::GetAvailable()) std::cout<<d<<"\n";
  auto mk=[&](int seed,double ox){auto im=I::New(); I::SizeType s={{181/2,217/2,181/2}}; if(argc>2){s={{181,217,181}};} im->SetRegions(s); im->Allocate(); I::PointType o; o[0]=ox;o[1]=-20;o[2]=5; im->SetOrigin(o);
    itk::ImageRegionIteratorWithIndex<I> it(im,im->GetLargestPossibleRegion()); std::mt19937 g(seed); std::uniform_real_distribution<float> u(0,20);
    for(;!it.IsAtEnd();++it){auto x=it.GetIndex(); it.Set(100+50*std::sin(x[0]*.1)*std::cos(x[1]*.13)+30*std::sin(x[2]*.07)+u(g));} return im;};
  auto f=mk(1,0),m=mk(2,1.3);
  using T=itk::AffineTransform<double,3>; auto t=T::New(); t->Rotate3D(itk::Vector<double,3>(1.0),0.05); T::OutputVectorType tr; tr[0]=1.2;tr[1]=-2;tr[2]=.7; t->Translate(tr);
  auto run=[&](auto metric,const char*n){ metric->SetFixedImage(f);metric->SetMovingImage(m);metric->SetMovingTransform(t);
    auto t0=std::chrono::steady_clock::now(); metric->Initialize(); auto t1=std::chrono::steady_clock::now();
    double v; itk::Array<double> d; metric->GetValueAndDerivative(v,d); auto t2=std::chrono::steady_clock::now(); double v2=metric->GetValue(); auto t3=std::chrono::steady_clock::now();
    using ms=std::chrono::duration<double,std::milli>;
    printf("%s %.12f %.12f n=%zu init %.1f vd %.1f v %.1f ms\n",n,v,v2,(size_t)metric->GetNumberOfValidPoints(),ms(t1-t0).count(),ms(t2-t1).count(),ms(t3-t2).count()); std::cout<<d<<"\n"; return d;};
  auto a=run(itk::MattesMutualInformationImageToImageMetricv4<I,I>::New(),"itk");
  for(auto&dev:itk::GPUDevice::GetAvailable()){ auto c=itk::CudaMattesNMI<I,I>::New(); c->NormalizedOff(); c->SetDevice(dev); auto b=run(c,dev.GetName().c_str()); std::cout<<"rel "<<(a-b).two_norm()/a.two_norm()<<"\n";}
}
